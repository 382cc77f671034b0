package dev.hongbao.domain.packet;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The loaded amounts of a packet's slots, minor units. Blocks of a thousand, as in the database, so that one share does not load a whole
 * large packet. Amounts never change. Thread-safe.
 */
final class SlotAmounts {
    /** Slots of a block, also in the schema. */
    static final int BLOCK = 1000;

    private final int count;
    private final AtomicReferenceArray<long @Nullable []> blocks;

    /** No amount loaded. */
    SlotAmounts(int count) {
        this.count = count;
        this.blocks = new AtomicReferenceArray<>((count + BLOCK - 1) / BLOCK);
    }

    int count() {
        return count;
    }

    /** The amount of a slot; 0 while it is not loaded. */
    long at(int slot) {
        long[] block = blocks.get(slot / BLOCK);
        return block == null ? 0 : block[slot % BLOCK];
    }

    /** True if the block is loaded or does not exist. */
    boolean has(int block) {
        return block >= blocks.length() || blocks.get(block) != null;
    }

    /** @param amounts of all slots of the block; not copied, the caller hands it over */
    void put(int block, long[] amounts) {
        blocks.set(block, amounts);
    }

    /** Takes over the blocks of another instance for the same packet. */
    void adopt(SlotAmounts other) {
        for (int block = 0; block < blocks.length(); block++) {
            long[] theirs = other.blocks.get(block);
            if (theirs != null) {
                blocks.set(block, theirs);
            }
        }
    }

    /** The number of loaded amounts. */
    int atHand() {
        int slots = 0;
        for (int block = 0; block < blocks.length(); block++) {
            long[] amounts = blocks.get(block);
            slots += amounts == null ? 0 : amounts.length;
        }
        return slots;
    }
}
