package dev.hongbao.embedded;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;

/**
 * Decompresses with the machine's own {@code xz}: of a first start it saves one to three seconds, since it works on the
 * other core and needs no warming up. For one thread.
 */
final class XzProgram extends FilterInputStream {
    private final Process process;

    private XzProgram(Process process) {
        super(process.getInputStream());
        this.process = process;
    }

    /** Where there is no such program, Java does it. Closing it does not close {@code packed}. */
    static InputStream decompress(InputStream packed) throws IOException {
        Process process;
        try {
            process = new ProcessBuilder("xz", "-dc")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException noSuchProgram) {
            return new XZCompressorInputStream(packed);
        }
        Thread feeder = new Thread(() -> feed(packed, process), "embedded-unpack");
        feeder.setDaemon(true);
        feeder.start();
        return new XzProgram(process);
    }

    private static void feed(InputStream packed, Process process) {
        try (OutputStream to = process.getOutputStream()) {
            packed.transferTo(to);
        } catch (IOException brokenOff) {
            process.destroyForcibly(); // so that the reader does not take the part for the whole
        }
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        int count = super.read(bytes, offset, length);
        if (count < 0) {
            requireSuccess();
        }
        return count;
    }

    @Override
    public int read() throws IOException {
        int value = super.read();
        if (value < 0) {
            requireSuccess();
        }
        return value;
    }

    private void requireSuccess() throws IOException {
        try {
            int exitCode = process.waitFor();
            if (exitCode != 0) {
                throw new IOException("xz failed with exit code " + exitCode);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        super.close();
    }
}
