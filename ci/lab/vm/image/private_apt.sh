# apt with sources, lists and cache of its own and no package installed: what it fetches is complete, whatever this machine
# has, and nothing of the machine's own apt changes. Proxies and the like are the machine's.
#   private_apt FOLDER ARGUMENT…    apt-get; FOLDER is made by private_apt_init FOLDER MIRROR SUITE…
private_apt() {
  local folder=$1; shift
  apt-get -q -y -o "Dir::Etc::sourcelist=$folder/sources" -o "Dir::Etc::sourceparts=$folder/none" -o "Dir::Etc::preferencesparts=$folder/none" \
    -o "Dir::State=$folder" -o "Dir::State::status=$folder/status" -o "Dir::Cache=$folder" -o APT::Sandbox::User=root \
    -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Install-Recommends=false -o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}

private_apt_init() {
  local folder=$1 mirror=$2 suite; shift 2
  mkdir -p "$folder"/{none,lists/partial,archives/partial}
  : >"$folder/status"
  for suite; do echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"; done >"$folder/sources"
  private_apt "$folder" -o APT::Update::Error-Mode=any update
}

# The mirror of Debian that this machine's apt uses, else Debian's own.
debian_mirror() {
  local mirror
  mirror=${FABRICGATE_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(CODENAME)' 2>/dev/null |
    sed -nE 's,^Debian ([^ ]*/debian)/? [a-z]+$,\1,p' | head -1)}
  echo "${mirror:-http://deb.debian.org/debian}"
}
