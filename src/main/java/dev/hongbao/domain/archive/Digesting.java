package dev.hongbao.domain.archive;

import dev.hongbao.common.values.Sha256;
import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.MessageDigest;
import java.util.HexFormat;

/** Counts bytes and takes their SHA-256, as they pass. */
final class Digesting {
    private final MessageDigest digest = Sha256.begin();
    private long bytes;

    private void pass(byte[] buffer, int offset, int length) {
        digest.update(buffer, offset, length);
        bytes += length;
    }

    /** Of all that has passed; once. */
    Manifest.Digest digest() {
        return new Manifest.Digest(bytes, HexFormat.of().formatHex(digest.digest()));
    }

    OutputStream to(OutputStream out) {
        return new FilterOutputStream(out) {
            @Override
            public void write(int value) throws IOException {
                write(new byte[] {(byte) value}, 0, 1);
            }

            @Override
            public void write(byte[] buffer, int offset, int length) throws IOException {
                out.write(buffer, offset, length);
                pass(buffer, offset, length);
            }
        };
    }

    InputStream from(InputStream in) {
        return new FilterInputStream(in) {
            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] buffer, int offset, int length) throws IOException {
                int read = in.read(buffer, offset, length);
                if (read > 0) {
                    pass(buffer, offset, read);
                }
                return read;
            }

            @Override
            public long skip(long most) {
                throw new UnsupportedOperationException("what is skipped is not digested");
            }

            @Override
            public boolean markSupported() {
                return false;
            }
        };
    }
}
