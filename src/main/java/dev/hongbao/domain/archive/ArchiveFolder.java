package dev.hongbao.domain.archive;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.SQLException;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** The directory of the files. A file is there as a whole and on the disk, or not at all. */
final class ArchiveFolder {
    private static final int BUFFER = 1 << 16;

    private final Path folder;

    ArchiveFolder(Path folder) {
        this.folder = folder;
    }

    /** Writes into a stream, and returns how many rows that were. */
    interface Writer {
        long writeTo(OutputStream out) throws IOException, SQLException;
    }

    /** Reads all of a stream. */
    interface Reader<T> {
        T readFrom(InputStream in) throws IOException, SQLException;
    }

    /** What was read, and what was passed on the way. */
    record Content<T>(T read, Manifest.Digest text, Manifest.Digest file) {}

    @Override
    public String toString() {
        return folder.toString();
    }

    boolean has(String name) {
        return Files.exists(folder.resolve(name));
    }

    byte[] read(String name) throws IOException {
        return Files.readAllBytes(folder.resolve(name));
    }

    /** Writes a file, in place of one of that name. */
    void write(String name, byte[] bytes) throws IOException {
        try {
            replace(name, out -> {
                out.write(bytes);
                return bytes.length;
            });
        } catch (SQLException never) {
            throw new IllegalStateException(never);
        }
    }

    /** The same with gzip. @param table whose rows they are */
    Manifest.Part writePacked(String name, String table, Writer writer) throws IOException, SQLException {
        Digesting text = new Digesting();
        Digesting file = new Digesting();
        long rows = replace(name, out -> {
            // Its header has neither a name nor a time.
            try (GZIPOutputStream packed = new GZIPOutputStream(file.to(out), BUFFER)) {
                long written = writer.writeTo(text.to(packed));
                packed.finish();
                return written;
            }
        });
        return new Manifest.Part(table, rows, text.digest(), file.digest());
    }

    private long replace(String name, Writer writer) throws IOException, SQLException {
        Files.createDirectories(folder);
        Path target = folder.resolve(name);
        Path draft = folder.resolve(name + ".part");
        long rows;
        try (FileChannel channel = FileChannel.open(
                draft, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel), BUFFER);
            rows = writer.writeTo(new Unclosed(out));
            out.flush();
            channel.force(true);
        }
        Files.move(draft, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        try (FileChannel self = FileChannel.open(folder, StandardOpenOption.READ)) {
            self.force(true); // the name, too
        }
        return rows;
    }

    /** Reads a file of {@link #writePacked} to its end. */
    <T> Content<T> readPacked(String name, Reader<T> reader) throws IOException, SQLException {
        Digesting text = new Digesting();
        Digesting file = new Digesting();
        try (InputStream in = file.from(new BufferedInputStream(Files.newInputStream(folder.resolve(name)), BUFFER))) {
            InputStream plain = text.from(new GZIPInputStream(in, BUFFER));
            T read = reader.readFrom(plain);
            plain.transferTo(OutputStream.nullOutputStream());
            in.transferTo(OutputStream.nullOutputStream());
            return new Content<>(read, text.digest(), file.digest());
        }
    }

    /** Its bytes are to be on the disk before it is closed. */
    private static final class Unclosed extends java.io.FilterOutputStream {
        Unclosed(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] buffer, int offset, int length) throws IOException {
            out.write(buffer, offset, length);
        }

        @Override
        public void close() throws IOException {
            out.flush();
        }
    }
}
