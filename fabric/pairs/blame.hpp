#pragma once
/// The steps of localise on one rail: ends, groups and pairs. Each marks what it explains in the table.
#include <string>
#include <vector>

#include "fabric/pairs/path_table.hpp"

namespace fabricgate::fabric {

/// Interfaces all of whose paths are bad in one direction: a culprit of kind direction per interface and way.
std::vector<Culprit> blame_ends(PathTable& table, int rail);

/// Interfaces most of whose paths are bad, after everything certain is explained: three or more bad, at most a quarter
/// good. Kind direction, with `contradicted` set.
std::vector<Culprit> blame_mostly_bad_ends(PathTable& table, int rail);

/// Two groups of two or more nodes with all paths across bad and none inside. `leaves` has one name per node (""
/// unknown).
std::vector<Culprit> blame_leaves(PathTable& table, int rail, const std::vector<std::string>& leaves);

/// The same for groups found from the good paths alone.
std::vector<Culprit> blame_groups(PathTable& table, int rail);

/// Kind fabric when no path of the rail is good and three or more nodes were tried. `alike`: only where all paths reach
/// the same share too, which clears the nodes whatever part of the pairs was measured.
std::vector<Culprit> blame_fabric(PathTable& table, int rail, bool alike = false);

/// Whatever is left: one culprit per pair, kind pair, or one unexplained for a knot of three or more nodes.
std::vector<Culprit> blame_pairs(PathTable& table, int rail);

}  // namespace fabricgate::fabric
