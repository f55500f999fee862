# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced in the top directory, with a kernel of `vm/run -k` in $kernel: what is built for it,
# where, and how much slower than others it may be. Debug kernels are slow, and not in the image.

case $kernel in
stable | backports)
	slow=1
	in_image=(vm/chroot --)
	release=$(vm/kernels | awk -v k="$kernel" '$1 == k { print $2 }') || exit
	;;
*)
	slow=10
	in_image=(vm/chroot -k "$kernel" --)
	release=$(vm/kernels "$kernel" | awk '{ print $2 }') || exit
	;;
esac
kdir=/lib/modules/$release/build
