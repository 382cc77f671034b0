package dev.hongbao.tools.chaos.bed;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;

/** What a disk does to a store's file, and the store's notice. Blocking. */
final class Damage {
    private Damage() {}

    interface Use {
        void run() throws Exception;
    }

    /** Flips one bit of a file in place; once more, and the file is as before. */
    static void flip(Path file, long bit) throws IOException {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.seek(bit / Byte.SIZE);
            int before = bytes.read();
            bytes.seek(bit / Byte.SIZE);
            bytes.write(before ^ 1 << bit % Byte.SIZE);
        }
    }

    /** @return whether the use of the file fails with this name of the damage @throws Exception if it fails otherwise */
    static boolean isNamed(String name, Use use) throws Exception {
        try {
            use.run();
            return false;
        } catch (Exception refused) {
            if (!String.valueOf(refused.getMessage()).contains(name)) {
                throw refused;
            }
            return true;
        }
    }
}
