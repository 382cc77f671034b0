package dev.hongbao.tools.chaos.bed;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file system of its own, in memory, that can be made full. Blocking; for one thread. */
final class SmallDisk implements AutoCloseable {
    /** More than a run writes; only what is written takes memory. */
    private static final long LARGE = 8L << 30;

    /** What still fits on a full one: nearly nothing, and what is written between a look at it and its end. */
    private static final long ROOM = 64L << 10;

    private static final int TRIES = 20;

    private static final class Possible {
        static final boolean HERE = tried();
    }

    private final Path directory;
    private final Thread unmounting;

    private SmallDisk(Path directory) {
        this.directory = directory;
        this.unmounting = new Thread(this::unmount, "unmount");
    }

    /** Whether this process may mount one: as root of a machine, and in few containers. */
    static boolean isPossible() {
        return Possible.HERE;
    }

    private static boolean tried() {
        try {
            Path directory = Files.createTempDirectory("disk");
            boolean here = mounted(directory);
            if (here) {
                run("umount", directory.toString());
            }
            Files.delete(directory);
            return here;
        } catch (IOException no) {
            return false;
        }
    }

    /** @param directory made for it; empty. Unmounted with this JVM, unless that is killed */
    static SmallDisk mount(Path directory) throws IOException {
        Files.createDirectories(directory);
        if (!mounted(directory)) {
            throw new IOException("cannot mount " + directory);
        }
        SmallDisk disk = new SmallDisk(directory);
        Runtime.getRuntime().addShutdownHook(disk.unmounting);
        return disk;
    }

    /** From now on nothing more fits. */
    void fill() throws IOException {
        FileStore store = Files.getFileStore(directory);
        for (int i = 0; i < TRIES; i++) {
            long used = store.getTotalSpace() - store.getUnallocatedSpace();
            if (resize(used + ROOM)) { // refused when more was written meanwhile
                return;
            }
        }
        throw new IOException("cannot fill " + directory);
    }

    /** There is room again. */
    void free() throws IOException {
        if (!resize(LARGE)) {
            throw new IOException("cannot free " + directory);
        }
    }

    private boolean resize(long bytes) throws IOException {
        return run("mount", "-o", "remount,size=" + bytes, directory.toString());
    }

    private static boolean mounted(Path directory) throws IOException {
        return run("mount", "-t", "tmpfs", "-o", "mode=0700,size=" + LARGE, "tmpfs", directory.toString());
    }

    private static boolean run(String... command) throws IOException {
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** At once, also while somebody still has a file open. */
    private void unmount() {
        try {
            run("umount", "-l", directory.toString());
        } catch (IOException gone) {
            // it stays until the machine ends
        }
    }

    /** What was written is gone. */
    @Override
    public void close() {
        Runtime.getRuntime().removeShutdownHook(unmounting);
        unmount();
    }
}
