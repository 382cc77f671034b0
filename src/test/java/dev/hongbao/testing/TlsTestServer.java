package dev.hongbao.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.SSLContext;

/** A server with a certificate of an authority of its own. @param clients trust that authority */
public record TlsTestServer(TestServer server, SSLContext clients) {
    /** @param directory empty, for the keys */
    public static TlsTestServer start(TestServers stores, Path directory, Map<String, String> options)
            throws Exception {
        TestAuthority authority = new TestAuthority(directory, "Our Own");
        TestCertificate certificate =
                authority.issue(Files.createDirectory(directory.resolve("server")), "ip:127.0.0.1");
        Map<String, String> all = new HashMap<>(options);
        all.put("http.tls-certificate", certificate.certificate().toString());
        all.put("http.tls-key", certificate.key().toString());
        return new TlsTestServer(TestServer.start(stores, all), authority.trusted(null));
    }
}
