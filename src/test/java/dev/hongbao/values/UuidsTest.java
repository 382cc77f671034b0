package dev.hongbao.values;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UuidsTest {
    private static final String ID = "01939d1e-8c00-7000-8000-00000000abcd";

    @Test
    void readsTheCanonicalFormInEitherCase() {
        assertThat(Uuids.parse(ID)).isEqualTo(UUID.fromString(ID));
        assertThat(Uuids.parse("01939D1E-8C00-7000-8000-00000000ABCD")).isEqualTo(UUID.fromString(ID));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "1-1-1-1-1",
                "01939d1e8c007000800000000000abcd",
                "{01939d1e-8c00-7000-8000-00000000abcd}",
                "urn:uuid:01939d1e-8c00-7000-8000-00000000abcd",
                "+1939d1e-8c00-7000-8000-00000000abcd",
                "01939d1e-8c00-7000-80000-0000000abcd",
                "01939d1e-8c00-7000-8000-00000000abcg",
                "01939d1e-8c00-7000-8000-00000000abc\n",
                "01939d1e-8c00-7000-8000-00000000abcd\n",
                "０1939d1e-8c00-7000-8000-00000000abcd"
            })
    void nothingElseIsAnId(String text) {
        assertThat(Uuids.parse(text)).isNull();
    }
}
