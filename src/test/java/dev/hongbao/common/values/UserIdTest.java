package dev.hongbao.common.values;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UserIdTest {
    @Test
    void theQuickRuleIsTheContractsPattern() {
        for (char c = 0; c < 300; c++) {
            for (String id : new String[] {"" + c, "a" + c, c + "a", "a" + c + "9"}) {
                assertThat(UserId.isValid(id))
                        .as("%s with character %d", id, (int) c)
                        .isEqualTo(matches(id));
            }
        }
        for (int length = 0; length < 70; length++) {
            String id = "x".repeat(length);
            assertThat(UserId.isValid(id)).as("%d characters", length).isEqualTo(matches(id));
        }
    }

    private static boolean matches(String id) {
        return UserId.PATTERN.matcher(id).matches();
    }
}
