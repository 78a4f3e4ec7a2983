# bash completion of fabricgate and fabricgate-rank
_fabricgate() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command='' sub='' i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      --log) ((++i)) ;;
      -*) ;;
      *) if [[ -z $command ]]; then command=${COMP_WORDS[i]}; else sub=${COMP_WORDS[i]}; break; fi ;;
    esac
  done
  local words=''
  case $before in
    --log) words='debug info warn error' ;;
    --format) words='openmpi hydra slurm' ;;
    --steps) words='packages driver modules kernel_cmdline rdma_namespace firmware sysctl memlock sriov network roce persist' ;;
    --tiers) words='stage addons host link pair collective soak' ;;
    --limits|--suite|--job|--compare|-o|--output|--runs) compopt -o default; COMPREPLY=(); return ;;
  esac
  if [[ -z $words ]]; then
    case $command in
      '') if [[ ${COMP_WORDS[0]##*/} == fabricgate-rank ]]; then words='accept help --log --help --version'
          else words='inventory plan stage unstage accept gate judge causes help --log --help --version'; fi ;;
      inventory)
        case $sub in
          '') words='check show hostfile import learn scan-keys --help' ;;
          show) words='--node --help' ;;
          hostfile) words='--compare --format --output --help' ;;
          import) words='--format --output --help' ;;
          learn) words='--name --output --help' ;;
          scan-keys) words='--add --help' ;;
          *) words='--help' ;;
        esac ;;
      plan) words='--nodes --steps --allow-busy --node-timeout --runs --help' ;;
      stage) words='--nodes --steps --allow-busy --allow-reboot --wave --reboot-timeout --node-timeout --runs --help' ;;
      unstage) words='--plan --nodes --steps --allow-busy --node-timeout --runs --help' ;;
      accept) words='--job --runs --budget --limits --suite --allow-busy --help' ;;
      gate) words='--runs --budget --limits --suite --allow-busy --help' ;;
      judge) words='--limits --suite --tiers --write --help' ;;
      causes) words=$("${COMP_WORDS[0]}" causes 2>/dev/null | cut -d' ' -f1) ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  # anything else is a file: an inventory, a hostfile, a run folder
  [[ $word == -* || -z $command || $command == causes || ( $command == inventory && -z $sub ) ]] || compopt -o default
}
complete -F _fabricgate fabricgate fabricgate-rank
