package dev.hongbao.tools.chaos.bed;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file system in memory that can be full. Blocking; for one thread. */
final class SmallDisk implements AutoCloseable {
    /** More than a run writes; only written bytes take memory. */
    private static final long LARGE = 8L << 30;

    /** Free bytes on a full disk: more may be written between the look at it and its new size. */
    private static final long ROOM = 64L << 10;

    private static final int TRIES = 20;

    /** Whether this process may mount one: root of a machine may, root of most containers may not. */
    static final boolean POSSIBLE = tried();

    private final Path directory;
    private final Thread unmounting = new Thread(this::unmount, "unmount");

    /** @param directory created for it. This JVM unmounts it at its end, unless it is killed */
    SmallDisk(Path directory) throws IOException {
        this.directory = Files.createDirectories(directory);
        if (!mounted(directory)) {
            throw new IOException("cannot mount " + directory);
        }
        Runtime.getRuntime().addShutdownHook(unmounting);
    }

    private static boolean tried() {
        try {
            Path directory = Files.createTempDirectory("disk");
            boolean here = mounted(directory) && run("umount", directory.toString());
            Files.delete(directory);
            return here;
        } catch (IOException no) {
            return false;
        }
    }

    void fill() throws IOException {
        FileStore store = Files.getFileStore(directory);
        for (int i = 0; i < TRIES; i++) {
            long used = store.getTotalSpace() - store.getUnallocatedSpace();
            if (resize(used + ROOM)) { // refused if more was written meanwhile
                return;
            }
        }
        throw new IOException("cannot fill " + directory);
    }

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

    /** At once, even while a process has a file open. */
    private void unmount() {
        try {
            run("umount", "-l", directory.toString());
        } catch (IOException gone) {
            // it stays until the machine ends
        }
    }

    /** Its content is gone. */
    @Override
    public void close() {
        Runtime.getRuntime().removeShutdownHook(unmounting);
        unmount();
    }
}
