package dev.hongbao.values;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PictureUrlTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://img.example.com/alice.png",
                "https://img.example.com",
                "https://img.example.com:8443/a/b.png?size=64&v=%E5%B0%8F#x",
                "https://thirdwx.qlogo.cn/mmopen/vi_32/abc_DEF-12/132"
            })
    void picturesAreTaken(String url) {
        assertThat(PictureUrl.isValid(url)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "https://",
                "http://img.example.com/a.png",
                "HTTPS://img.example.com/a.png",
                "//img.example.com/a.png",
                "javascript:alert(1)",
                "data:image/png;base64,AAAA",
                "https://user:secret@img.example.com/",
                "https://img.example.com\\@evil.example/",
                "https://img.example.com/a b",
                "https://img.example.com/\n",
                "https://img.example.com/\"><script>",
                "https://img.example.com/图.png",
                "https://图.example/a.png",
                "https://-.example.com:99999999/",
                "https://img.example.com:65536/",
                "https://img.example.com/%zz"
            })
    void anythingElseIsRefused(String url) {
        assertThat(PictureUrl.isValid(url)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 501})
    void itIsAtMost500Long(int length) {
        String url = "https://img.example.com/" + "a".repeat(length - "https://img.example.com/".length());
        assertThat(PictureUrl.isValid(url)).isEqualTo(length == 500);
    }
}
