package dev.hongbao.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Random;
import org.apache.commons.compress.compressors.xz.XZCompressorOutputStream;
import org.junit.jupiter.api.Test;

class XzProgramTest {
    /** More than the pipes hold. */
    private static final int SIZE_BYTES = 1 << 20;

    @Test
    void what_was_packed_comes_out() throws Exception {
        // Given
        byte[] bytes = bytes();

        // When
        try (InputStream in = XzProgram.decompress(new ByteArrayInputStream(packed(bytes)))) {
            // Then
            assertThat(in.readAllBytes()).isEqualTo(bytes);
        }
    }

    @Test
    void a_part_is_not_taken_for_the_whole() throws Exception {
        // Given
        byte[] packed = packed(bytes());
        byte[] part = Arrays.copyOf(packed, packed.length / 2);

        // When, Then
        try (InputStream in = XzProgram.decompress(new ByteArrayInputStream(part))) {
            assertThatThrownBy(in::readAllBytes).isInstanceOf(IOException.class);
        }
    }

    private static byte[] bytes() {
        byte[] bytes = new byte[SIZE_BYTES];
        new Random(1).nextBytes(bytes);
        return bytes;
    }

    private static byte[] packed(byte[] bytes) throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (XZCompressorOutputStream out = new XZCompressorOutputStream(packed)) {
            out.write(bytes);
        }
        return packed.toByteArray();
    }
}
