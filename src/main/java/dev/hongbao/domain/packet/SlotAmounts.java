package dev.hongbao.domain.packet;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The amounts of a packet's slots, minor units, as far as they are at hand: blocks of a thousand, as in the database, so that
 * nobody reads all of a large packet for one share. What an amount is never changes. Thread-safe.
 */
final class SlotAmounts {
    /** Slots of a block; also the schema's. */
    static final int BLOCK = 1000;

    private final int count;
    private final AtomicReferenceArray<long @Nullable []> blocks;

    /** None at hand. */
    SlotAmounts(int count) {
        this.count = count;
        this.blocks = new AtomicReferenceArray<>((count + BLOCK - 1) / BLOCK);
    }

    int count() {
        return count;
    }

    /** The amount of a slot; 0 when it is not at hand. */
    long at(int slot) {
        long[] block = blocks.get(slot / BLOCK);
        return block == null ? 0 : block[slot % BLOCK];
    }

    /** Whether a block is at hand, or there is none of this number. */
    boolean has(int block) {
        return block >= blocks.length() || blocks.get(block) != null;
    }

    /** @param amounts of all its slots; not copied, the caller gives it away */
    void put(int block, long[] amounts) {
        blocks.set(block, amounts);
    }

    /** Takes over what another instance for the same packet has. */
    void adopt(SlotAmounts other) {
        for (int block = 0; block < blocks.length(); block++) {
            long[] theirs = other.blocks.get(block);
            if (theirs != null) {
                blocks.set(block, theirs);
            }
        }
    }

    /** How many slots' amounts are at hand. */
    int atHand() {
        int slots = 0;
        for (int block = 0; block < blocks.length(); block++) {
            long[] amounts = blocks.get(block);
            slots += amounts == null ? 0 : amounts.length;
        }
        return slots;
    }
}
