package dev.hongbao.domain.packet;

import dev.hongbao.common.values.UserId;
import java.util.Arrays;
import java.util.Collection;

/** A filter of a packet's winners, at 8 bytes each. It refuses most late claims on a large packet without a lookup. Immutable. */
final class WinnerFilter {
    private final long[] hashes;

    WinnerFilter(Collection<String> users) {
        this.hashes = users.stream().mapToLong(WinnerFilter::hash).sorted().toArray();
    }

    int size() {
        return hashes.length;
    }

    /** True for all winners, and for about one in 10^14 other users. These are then looked up. */
    boolean mayHold(UserId user) {
        return Arrays.binarySearch(hashes, hash(user.value())) >= 0;
    }

    /** FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/. Ids are ASCII. */
    private static long hash(String user) {
        long hash = 0xcbf29ce484222325L;
        for (int i = 0; i < user.length(); i++) {
            hash = (hash ^ user.charAt(i)) * 0x100000001b3L;
        }
        return hash;
    }
}
