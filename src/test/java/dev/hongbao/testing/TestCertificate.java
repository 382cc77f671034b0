package dev.hongbao.testing;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * A certificate of 127.0.0.1 that has signed itself, so that it is known to who is told only.
 *
 * @param store PKCS#12, with the password {@link #PASSWORD}; the entry is called "server"
 * @param certificate PEM
 * @param key PEM
 */
public record TestCertificate(Path store, Path certificate, Path key) {
    public static final String PASSWORD = "changeit";

    /** Makes one in an empty directory. */
    public static TestCertificate make(Path directory) throws Exception {
        Path file = directory.resolve("store.p12");
        generate(file, "server", "-validity", "2", "-dname", "CN=localhost", "-ext", "SAN=ip:127.0.0.1");
        KeyStore store = load(file);
        Path certificate =
                pem(directory, "CERTIFICATE", store.getCertificate("server").getEncoded());
        byte[] key = store.getKey("server", PASSWORD.toCharArray()).getEncoded();
        return new TestCertificate(file, certificate, pem(directory, "PRIVATE KEY", key));
    }

    /** Makes a key with a certificate in a store, which is made when it is not there. */
    static void generate(Path store, String alias, String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-J-XX:TieredStopAtLevel=1", // it lives for a second
                "-J-XX:+UseSerialGC",
                "-genkeypair",
                "-alias",
                alias,
                "-keyalg",
                "EC",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD));
        command.addAll(List.of(options));
        if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
            throw new IllegalStateException("keytool failed");
        }
    }

    /** The key store. */
    public KeyStore load() throws Exception {
        return load(store);
    }

    static KeyStore load(Path file) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD.toCharArray());
        }
        return store;
    }

    static Path pem(Path directory, String what, byte[] content) throws IOException {
        String text = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(content);
        Path file = Files.writeString(
                directory.resolve(what.replace(' ', '-') + ".pem"),
                "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }
}
