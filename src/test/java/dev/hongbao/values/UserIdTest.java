package dev.hongbao.values;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UserIdTest {
    @Test
    void theQuickRuleIsTheContractsPattern() {
        for (char c = 0; c < 300; c++) {
            for (String id : new String[] {"" + c, "a" + c, c + "a", "a" + c + "9", "." + c, ".." + c, "..." + c}) {
                assertThat(UserId.isValid(id))
                        .as("%s with character %d", id, (int) c)
                        .isEqualTo(matches(id));
            }
        }
        for (int length = 0; length < 140; length++) {
            String id = "x".repeat(length);
            assertThat(UserId.isValid(id)).as("%d characters", length).isEqualTo(matches(id));
        }
    }

    private static boolean matches(String id) {
        return id.length() <= UserId.MAX_LENGTH && UserId.PATTERN.matcher(id).matches();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-1001234567890",
                "@bob:example.org",
                "!room:example.org",
                "/family",
                "#general",
                "*",
                "=",
                "~",
                "...",
                "a\\b"
            })
    void idsOfOtherPlatformsAreIds(String id) {
        assertThat(UserId.isValid(id)).isTrue();
        assertThat(GroupId.isValid(id)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", "a b", "a\"b", "a'b", "a`b", "\u5c0f\u6885", "a\n"})
    void whatNoUrlAndNoLineCanHoldIsNone(String id) {
        assertThat(UserId.isValid(id)).isFalse();
        assertThat(GroupId.isValid(id)).isFalse();
    }

    @Test
    void anIdOfEveryFirstCharacterComesBackFromRedisAndIsNoMarkThere() {
        Set<String> ids = new HashSet<>();
        Set<String> inRedis = new HashSet<>();
        for (char first = '!'; first <= '~'; first++) {
            for (String id : List.of("" + first, first + "x", "." + first, "..." + first)) {
                if (UserId.isValid(id)) {
                    String text = new UserId(id).inRedis();
                    ids.add(id);
                    inRedis.add(text);
                    assertThat(text).as("of %s", id).doesNotMatch("[#!*=~].*");
                    assertThat(UserId.ofRedis(text)).isEqualTo(new UserId(id));
                    assertThat(UserId.toRedis(id + " product")).isEqualTo(text + " product");
                }
            }
        }
        assertThat(inRedis).as("no two ids are one text").hasSameSizeAs(ids);
    }

    @Test
    void mostIdsStandInRedisAsTheyAre() {
        for (String id : List.of("alice", "Z", "0", "_x", "a#!*=~")) {
            assertThat(new UserId(id).inRedis()).isEqualTo(id);
        }
    }

    @Test
    void oneUserHasOneTextInRedis() {
        for (String text : List.of(
                "", ".", ".alice", "#", "!3", "@bob", ".a b", ".." /* the escaped . */, "..." /* the escaped .. */)) {
            assertThat(UserId.ofRedis(text)).as(text).isNull();
        }
    }
}
