package dev.hongbao.page;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.hongbao.testing.TestCertificate;
import dev.hongbao.tools.local.Directories;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.imageio.ImageIO;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A host's server of pictures; the same one for every path. */
final class Pictures {
    private final HttpsServer http;

    /** Each request's path and {@code Referer}. */
    final List<String> asked = new CopyOnWriteArrayList<>();

    Pictures() throws Exception {
        Path directory = Files.createTempDirectory("hongbao-pictures");
        TestCertificate certificate = TestCertificate.make(directory);
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(certificate.load(), TestCertificate.PASSWORD.toCharArray());
        Directories.delete(directory);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(keys.getKeyManagers(), null, null);
        http = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.setHttpsConfigurator(new HttpsConfigurator(tls));
        byte[] png = face();
        http.createContext("/", exchange -> {
            asked.add(exchange.getRequestURI() + " "
                    + exchange.getRequestHeaders().getFirst("Referer"));
            exchange.getResponseHeaders().add("Content-Type", "image/png");
            exchange.sendResponseHeaders(200, png.length);
            exchange.getResponseBody().write(png);
            exchange.close();
        });
        http.start();
    }

    String origin() {
        return "https://127.0.0.1:" + http.getAddress().getPort();
    }

    private static byte[] face() throws IOException {
        BufferedImage image = new BufferedImage(96, 96, BufferedImage.TYPE_INT_RGB);
        Graphics2D pen = image.createGraphics();
        pen.setColor(Color.CYAN);
        pen.fillRect(0, 0, 96, 96);
        pen.setColor(Color.MAGENTA);
        pen.fillOval(16, 16, 64, 64);
        pen.dispose();
        ByteArrayOutputStream png = new ByteArrayOutputStream();
        ImageIO.write(image, "png", png);
        return png.toByteArray();
    }
}
