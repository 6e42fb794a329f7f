#!/bin/sh
# Unpacks programs from Debian packages into a directory. Nothing is installed: the machine does not change.
#
#   tools/debian.sh DIRECTORY PROGRAM...
#
# The output is DIRECTORY/PROGRAM for each that is not on PATH, a script that runs it with the libraries beside it.
set -eu

output=$1
shift

packages=
for program in "$@"; do
	if command -v "$program" >/dev/null || [ -x "$output/$program" ]; then
		continue
	fi
	case $program in
	# It needs libseccomp2, which apt itself depends on.
	runc) packages="$packages runc" ;;
	nft) packages="$packages nftables libnftables1 libnftnl11 libjansson4 libmnl0 libxtables12 libedit2 libbsd0 libmd0" ;;
	*) echo "no Debian package is known for $program" >&2 && exit 1 ;;
	esac
	missing="${missing:-} $program"
done
[ -n "$packages" ] || exit 0

work=$output.part.$$
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
mkdir -p "$work/root" "$work/lists/partial" "$work/debs"

# apt-get download needs the lists of packages. A machine without them gets its own, for this run.
lists=
download() {
	# shellcheck disable=SC2086 # several packages, perhaps no option
	(cd "$work/debs" && apt-get -qq $lists download $packages) >"$work/log" 2>&1
}
echo "downloading from Debian:$packages"
if ! download; then
	lists="-o Dir::State::lists=$(cd "$work/lists" && pwd)"
	# shellcheck disable=SC2086
	apt-get -qq $lists update >"$work/log" 2>&1 && download || {
		cat "$work/log" >&2
		exit 1
	}
fi
for package in "$work"/debs/*.deb; do
	dpkg-deb -x "$package" "$work/root"
done
mkdir -p "$output"
rm -rf "$output/root"
mv "$work/root" "$output/root"

root=$(cd "$output/root" && pwd)
libraries=$(find "$root" -name '*.so*' -exec dirname {} + | sort -u | paste -sd:)
for program in $missing; do
	path=$(find "$root/usr" -path "*bin/$program" | head -n 1)
	printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$libraries" "$path" >"$output/$program"
	chmod +x "$output/$program"
	"$output/$program" --version >/dev/null
done
