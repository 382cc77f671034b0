package dev.hongbao.webhook;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.config.AddressRange;
import dev.hongbao.values.InvalidInputException;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WebhookUrlTest {
    private static final AddressGuard PUBLIC_ONLY = new AddressGuard(List.of());
    private static final AddressGuard OUR_NETWORK = new AddressGuard(List.of(AddressRange.parse("10.2.0.0/16")));

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "https://127.0.0.1/hook | not public",
                "https://[::1]:8443/hook | not public",
                "https://[::ffff:10.0.0.1]/ | not public",
                "https://169.254.169.254/latest/meta-data | not public",
                "http://shop.example.com/hook | must begin with https://",
                "https://user:secret@shop.example.com/ | no user",
                "https://shop.example.com/#part | no fragment",
                "https://shop.example.com:70000/ | port"
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
        "https://10.2.3.4/hook, true",
        "https://10.3.3.4/hook, false",
        "http://8.8.8.8/hook, false",
        "http://hook.internal/, true" // where the name leads is looked at when it is called
    })
    void aNetworkThatIsNamedIsAllowedAndNoOther(String url, boolean taken) {
        if (taken) {
            assertThatCode(() -> OUR_NETWORK.check(url)).doesNotThrowAnyException();
        } else {
            assertThatThrownBy(() -> OUR_NETWORK.check(url)).isInstanceOf(InvalidInputException.class);
        }
    }
}
