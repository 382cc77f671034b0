package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.config.AddressRange;
import dev.hongbao.http.ConnectionCap.ClientAddresses;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClientAddressesTest {
    private static final List<AddressRange> PROXIES = Stream.of("10.0.0.0/8", "192.0.2.7", "2001:db8:aa::/48")
            .map(AddressRange::parse)
            .toList();

    private static HttpServerRequest request(String peer, MultiMap headers) {
        return (HttpServerRequest) Proxy.newProxyInstance(
                ClientAddressesTest.class.getClassLoader(),
                new Class<?>[] {HttpServerRequest.class},
                (self, method, args) -> switch (method.getName()) {
                    case "remoteAddress" -> SocketAddress.inetSocketAddress(1, peer);
                    case "headers" -> headers;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                // peer | X-Forwarded-For | key | exempt
                "203.0.113.9 | - | 203.0.113.9 | false",
                "203.0.113.9 | 198.51.100.1 | 203.0.113.9 | false", // not a proxy: its word counts for nothing
                "10.1.2.3 | 198.51.100.1 | 198.51.100.1 | false",
                "10.1.2.3 | 1.1.1.1, 198.51.100.1 | 198.51.100.1 | false", // what the client wrote stands left
                "10.1.2.3 | 1.1.1.1,198.51.100.1 , 192.0.2.7 | 198.51.100.1 | false", // through two proxies
                "10.1.2.3 | 192.0.2.7, 10.0.0.1 | 192.0.2.7 | true", // proxies only
                "10.1.2.3 | - | 10.1.2.3 | true",
                "10.1.2.3 | unknown | 10.1.2.3 | true",
                "10.1.2.3 | 1.1.1.1, nonsense | 10.1.2.3 | true",
                "10.1.2.3 | 198.51.100.1:4711 | 198.51.100.1 | false",
                "10.1.2.3 | [2001:db8:1:2:3:4:5:6]:4711 | 2001:db8:1:2:: | false",
                "10.1.2.3 | 2001:db8:1:2:ffff::1 | 2001:db8:1:2:: | false", // a subscriber's /64
                "::ffff:10.1.2.3 | ::ffff:198.51.100.1 | 198.51.100.1 | false",
                "2001:db8:aa::5 | 198.51.100.1 | 198.51.100.1 | false",
                "2001:db8:ab::5 | 198.51.100.1 | 2001:db8:ab:: | false",
                "192.0.2.8 | 198.51.100.1 | 192.0.2.8 | false",
                "127.0.0.1 | 198.51.100.1 | 127.0.0.1 | true",
                "::1 | - | :: | true",
            })
    void theLastHopThatIsNoTrustedProxyIsTheClient(String peer, String header, String key, boolean exempt) {
        MultiMap headers = MultiMap.caseInsensitiveMultiMap().add("Forwarded", "for=9.9.9.9");
        if (header != null) {
            headers.add("x-forwarded-for", header);
        }

        assertThat(ClientAddresses.of(PROXIES).of(request(peer, headers)))
                .isEqualTo(new ClientAddresses.ClientAddress(key, exempt));
    }

    @Test
    void severalLinesAreOneList() {
        MultiMap headers = MultiMap.caseInsensitiveMultiMap()
                .add("X-Forwarded-For", "1.1.1.1")
                .add("X-Forwarded-For", "198.51.100.1");

        assertThat(ClientAddresses.of(PROXIES).of(request("10.1.2.3", headers)).key())
                .isEqualTo("198.51.100.1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/x", "::1/129", "", "10.0.0"})
    void whatIsNoBlockOfAddressesIsRefused(String text) {
        assertThatThrownBy(() -> AddressRange.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }
}
