package dev.hongbao.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.config.AddressRange;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Text;
import java.net.InetAddress;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressGuardTest {
    private static final AddressGuard PUBLIC_ONLY = new AddressGuard(List.of());

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1",
                "127.255.255.254",
                "0.0.0.0",
                "10.1.2.3",
                "100.100.100.200",
                "169.254.169.254",
                "172.16.0.1",
                "172.31.255.255",
                "192.168.1.1",
                "198.18.0.1",
                "224.0.0.1",
                "255.255.255.255",
                "2130706433", // 127.0.0.1 in one number
                "::1",
                "::",
                "::ffff:127.0.0.1",
                "::ffff:10.0.0.1",
                "64:ff9b:1::a00:1",
                "3fff::1",
                "::127.0.0.1",
                "fe80::1",
                "fc00::1",
                "fd00:ec2::254",
                "ff02::1",
                "64:ff9b::7f00:1",
                "64:ff9b::a9fe:a9fe",
                "2002:7f00:1::",
                "2001:0:7f00:1::",
                "2001:db8::1"
            })
    void whatIsNotPublicIsNotCalled(String address) throws Exception {
        assertThat(PUBLIC_ONLY.whyNot(InetAddress.getByName(address), true)).isEqualTo(Text.of("url.not-public"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"93.184.216.34", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:2800:220:1::1", "2a00:1450::1"})
    void whatIsPublicIs(String address) throws Exception {
        assertThat(PUBLIC_ONLY.whyNot(InetAddress.getByName(address), true)).isNull();
        assertThat(PUBLIC_ONLY.whyNot(InetAddress.getByName(address), false)).isEqualTo(Text.of("url.public-http"));
    }

    @Test
    void aNetworkThatIsNamedIsCalledAndNoOther() throws Exception {
        AddressGuard guard = new AddressGuard(List.of(AddressRange.parse("10.2.0.0/16")));

        assertThat(guard.whyNot(InetAddress.getByName("10.2.3.4"), true)).isNull();
        assertThat(guard.whyNot(InetAddress.getByName("10.2.3.4"), false)).isNull();
        assertThat(guard.whyNot(InetAddress.getByName("10.3.3.4"), true)).isEqualTo(Text.of("url.not-public"));
        assertThat(guard.whyNot(InetAddress.getByName("127.0.0.1"), true)).isEqualTo(Text.of("url.not-public"));
    }

    private static InetAddress[] addresses(String... all) {
        return Stream.of(all).map(AddressRange::literal).toArray(InetAddress[]::new);
    }

    @Test
    void aNameIsCalledOnlyWhenAllItsAddressesMayBeAndAtAnotherOneEachTime() throws Exception {
        AddressGuard good = new AddressGuard(List.of(), host -> addresses("8.8.8.8", "2a00:1450::1"));
        assertThat(good.address("name", true, 0)).isEqualTo(AddressRange.literal("8.8.8.8"));
        assertThat(good.address("name", true, 1)).isEqualTo(AddressRange.literal("2a00:1450::1"));
        assertThat(good.address("name", true, 2)).isEqualTo(AddressRange.literal("8.8.8.8"));
        assertThatThrownBy(() -> good.address("name", false, 0)).hasMessageContaining("not https");

        AddressGuard mixed = new AddressGuard(List.of(), host -> addresses("8.8.8.8", "169.254.169.254"));
        for (int attempt = 0; attempt < 2; attempt++) {
            int each = attempt;
            assertThatThrownBy(() -> mixed.address("name", true, each))
                    .isInstanceOf(AddressGuard.ForbiddenException.class)
                    .hasMessageContaining("not public");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "https://127.0.0.1/hook | not public",
                "https://[::1]:8443/hook | not public",
                "http://shop.example.com/hook | must begin with https://",
                "javascript:alert(1) | must begin with https://",
                "https://user:secret@shop.example.com/ | no user",
                "https://shop.example.com/#part | no fragment",
                "https://shop.example.com:70000/ | port",
                "https:///x | must name a host",
                "https:// | is not a URL",
                "https://exa mple.com/ | is not a URL",
                "https://example.com/抢 | ASCII"
            })
    void whatCanNeverBeCalledIsRefusedWhenItIsMade(String url, String why) {
        assertThatThrownBy(() -> PUBLIC_ONLY.check(url))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("#/url")
                .hasMessageContaining(why);
    }

    @ParameterizedTest
    @ValueSource(strings = {"https://shop.example.com/hook", "https://8.8.8.8/", "https://[2a00:1450::1]:8443/x?y=1"})
    void aNameAndAPublicAddressAreTaken(String url) {
        assertThatCode(() -> PUBLIC_ONLY.check(url)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({
        "http://10.2.3.4/hook, true",
        "https://10.3.3.4/hook, false",
        "http://8.8.8.8/hook, false",
        "http://hook.internal/, true" // where the name leads is looked at when it is called
    })
    void anUrlOfANamedNetworkIsTakenAndOfNoOther(String url, boolean taken) {
        AddressGuard guard = new AddressGuard(List.of(AddressRange.parse("10.2.0.0/16")));
        if (taken) {
            assertThatCode(() -> guard.check(url)).doesNotThrowAnyException();
        } else {
            assertThatThrownBy(() -> guard.check(url)).isInstanceOf(InvalidInputException.class);
        }
    }
}
