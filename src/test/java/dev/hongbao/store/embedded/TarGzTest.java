package dev.hongbao.store.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.store.embedded.Binaries.TarGz;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TarGzTest {
    @TempDir
    Path directory;

    private final ByteArrayOutputStream archive = new ByteArrayOutputStream();

    private interface Filling {
        void fill(TarArchiveOutputStream tar) throws IOException;
    }

    private void archive(Filling filling) throws IOException {
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(new GZIPOutputStream(archive))) {
            filling.fill(tar);
        }
    }

    private static void entry(TarArchiveOutputStream tar, String name, int mode, String text) throws IOException {
        byte[] content = text.getBytes(StandardCharsets.UTF_8);
        TarArchiveEntry entry = new TarArchiveEntry(name, true);
        entry.setMode(mode);
        entry.setSize(content.length);
        tar.putArchiveEntry(entry);
        tar.write(content);
        tar.closeArchiveEntry();
    }

    private void unpack(byte[] bytes) throws IOException {
        TarGz.unpack(new ByteArrayInputStream(bytes), directory.resolve("to"));
    }

    private String permissions(String name) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("to/" + name)));
    }

    @Test
    void directoriesFilesAndLinksComeWithTheirPermissions() throws IOException {
        // Given
        archive(tar -> {
            entry(tar, "empty/", 0700, "");
            entry(tar, "bin/program", 0755, "run");
            entry(tar, "secret", 0600, "s");
            TarArchiveEntry link = new TarArchiveEntry("alias", TarConstants.LF_SYMLINK);
            link.setLinkName("secret");
            tar.putArchiveEntry(link);
            tar.closeArchiveEntry();
        });

        // When
        unpack(archive.toByteArray());

        // Then
        assertThat(permissions("empty")).isEqualTo("rwx------");
        assertThat(permissions("bin/program")).isEqualTo("rwxr-xr-x");
        assertThat(permissions("secret")).isEqualTo("rw-------");
        assertThat(directory.resolve("to/alias")).isSymbolicLink().hasContent("s");
    }

    @Test
    void anEntryThatLeadsOutIsRefused() throws IOException {
        archive(tar -> entry(tar, "../outside", 0644, "x"));

        assertThatThrownBy(() -> unpack(archive.toByteArray())).hasMessageContaining("../outside");
        assertThat(directory.resolve("outside")).doesNotExist();
    }

    @Test
    void anArchiveThatIsCutShortIsAnError() throws IOException {
        archive(tar -> entry(tar, "file", 0644, "x".repeat(100_000)));
        byte[] half = Arrays.copyOf(archive.toByteArray(), archive.size() / 2);

        assertThatThrownBy(() -> unpack(half)).isInstanceOf(IOException.class);
    }
}
