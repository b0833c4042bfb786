export LC_ALL=C;
umask 077;
folder=;
for place in "$1" "$TMPDIR" /tmp /var/tmp /dev/shm "$HOME"; do
[ -n "$place" ] && [ -d "$place" ] && [ -w "$place" ] || continue;
folder=$(mktemp -d "$place/cpb-XXXXXX" 2>/dev/null) || { folder=$place/cpb-$$; mkdir "$folder" 2>/dev/null || { folder=; continue; }; };
echo "exit 7" > "$folder/try" && chmod 700 "$folder/try" && "$folder/try" 2>/dev/null;
[ $? = 7 ] && break;
rm -rf "$folder"; folder=;
done;
[ -n "$folder" ] || { echo "cpb-nowhere $(uname -s) $(uname -m)"; exit 1; };
trap "rm -rf \"$folder\"" EXIT;
trap "exit 1" HUP INT TERM PIPE;
rm -f "$folder/try";
echo "cpb-here $(uname -s) $(uname -m) $folder";
read size || exit 1;
head -c "$size" > "$folder/cpb";
count=$(wc -c < "$folder/cpb");
for sum in "sha256sum" "busybox sha256sum" "openssl dgst -r -sha256" ""; do
[ -z "$sum" ] && { hash=none; break; };
hash=$($sum "$folder/cpb" 2>/dev/null | cut -c 1-64) && [ ${#hash} = 64 ] && break;
done;
echo "cpb-got $((count)) $hash";
read word || exit 1;
[ "$word" = go ] || exit 1;
chmod 700 "$folder/cpb";
"$folder/cpb" agent --here
