package dev.hongbao.tools.chaos.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.tools.chaos.bed.RedisSide.Form;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FaultGuideTest {
    @ParameterizedTest
    @EnumSource
    void everyKindIsInTheGuide(Form redis) throws IOException {
        String guide = Files.readString(Path.of("src/site/markdown/chaos.md"));
        List<String> names = Faults.of(redis).stream().map(FaultKind::name).toList();

        assertThat(names).doesNotHaveDuplicates().allSatisfy(name -> {
            boolean isOfALine = name.startsWith("network to ");
            assertThat(guide).contains("`" + (isOfALine ? name.substring(name.indexOf(": ") + 2) : name) + "`");
            assertThat(guide).contains(isOfALine ? name.substring(0, name.indexOf(':')) : name);
        });
    }
}
