package dev.hongbao;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.hongbao.engine.journal.ShardScript;
import dev.hongbao.engine.redis.RedisCommands;
import io.vertx.redis.client.Command;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.NullMarked;

/** The rules of the layout: five layers, and what each may know. */
@AnalyzeClasses(packages = "dev.hongbao", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    /** Of the packages that also talk to stores: values and pure functions, by outermost class. */
    private static final Set<String> VALUES = Set.of(
            // packet
            "Claim",
            "Packet",
            "PacketId",
            "PacketKind",
            "PacketStatus",
            "PacketView",
            "Passcode",
            "SendCommand",
            // ledger
            "Amount",
            "Asset",
            "TransferKind",
            "WalletRecord",
            // claim
            "ClaimOutcome");

    private static final DescribedPredicate<JavaClass> DOMAIN_VALUES = DescribedPredicate.describe(
            "domain values",
            type -> Set.of("dev.hongbao.domain.packet", "dev.hongbao.domain.ledger", "dev.hongbao.domain.claim")
                            .contains(type.getPackageName())
                    && VALUES.contains(outermost(type).getSimpleName()));

    private static final DescribedPredicate<JavaMethodCall> READS_THE_WALL_CLOCK = DescribedPredicate.describe(
            "is now() of java.time, or a system's clock",
            call -> call.getTargetOwner().getPackageName().equals("java.time")
                    && (call.getName().equals("now") || call.getName().startsWith("system")));

    @ArchTest
    static final ArchRule everyClassIsInALayerAndSeesOnlyTheLayersBelow = layeredArchitecture()
            .consideringOnlyDependenciesInAnyPackage("dev.hongbao..")
            .layer("common")
            .definedBy("dev.hongbao.common..")
            .layer("engine")
            .definedBy("dev.hongbao.engine..")
            .layer("domain")
            .definedBy("dev.hongbao.domain..")
            .layer("web")
            .definedBy("dev.hongbao.web..")
            .layer("server")
            .definedBy("dev.hongbao.server..")
            .layer("tools")
            .definedBy("dev.hongbao.tools..")
            .layer("cli")
            .definedBy("dev.hongbao.cli..")
            .layer("main")
            .definedBy("dev.hongbao")
            .whereLayer("engine")
            .mayOnlyBeAccessedByLayers("domain", "web", "server", "tools", "cli")
            .whereLayer("domain")
            .mayOnlyBeAccessedByLayers("web", "server", "tools", "cli")
            .whereLayer("web")
            .mayOnlyBeAccessedByLayers("server", "tools", "cli")
            .whereLayer("server")
            .mayOnlyBeAccessedByLayers("tools", "cli")
            .whereLayer("tools")
            .mayOnlyBeAccessedByLayers("cli")
            .whereLayer("cli")
            .mayOnlyBeAccessedByLayers("main")
            .whereLayer("main")
            .mayNotBeAccessedByAnyLayer()
            .ensureAllClassesAreContainedInArchitecture();

    @ArchTest
    static final ArchRule onlyTheCompositionRootReachesTheWriter = noClasses()
            .that()
            .resideOutsideOfPackages("dev.hongbao.engine.writer..", "dev.hongbao.server..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.hongbao.engine.writer..");

    @ArchTest
    static final ArchRule routesFramesAndTasksTakeWhatTheyUse = noClasses()
            .that()
            .resideOutsideOfPackages("dev.hongbao.server..", "dev.hongbao.tools.bench..")
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("dev.hongbao.server.Services")
            .because(
                    "a class with all services behind it hides which of them it uses; a benchmark calls them as they are");

    @ArchTest
    static final ArchRule theDomainKnowsNoHttpAndNoToken = noClasses()
            .that()
            .resideInAPackage("dev.hongbao.domain..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.vertx.core.http..", "io.vertx.ext.web..", "com.nimbusds..");

    @ArchTest
    static final ArchRule valuesKnowNoVertx = noClasses()
            .that(DOMAIN_VALUES)
            .or(are(resideInAPackage("dev.hongbao.domain.split..")))
            .or(are(resideInAPackage("dev.hongbao.common.values..")))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.vertx..", "io.netty..");

    @ArchTest
    static final ArchRule roomsHaveNoCycles =
            slices().matching("dev.hongbao.(*).(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule chanceComesFromACryptographicSource = noClasses()
            .should()
            .callConstructor(Random.class)
            .orShould()
            .callConstructor(Random.class, long.class)
            .orShould()
            .callMethod(Math.class, "random")
            .orShould()
            .dependOnClassesThat()
            .belongToAnyOf(ThreadLocalRandom.class)
            .because("an amount that can be guessed can be raced for");

    @ArchTest
    static final ArchRule theWallClockDecidesNothing = noClasses()
            .that()
            .resideInAnyPackage("dev.hongbao.domain..", "dev.hongbao.engine..")
            .and()
            .resideOutsideOfPackage("dev.hongbao.engine.embedded..")
            .should()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .callMethodWhere(READS_THE_WALL_CLOCK)
            .because("what is due is decided by Postgres' clock (StoreClock), whatever time it is on this machine");

    @ArchTest
    static final ArchRule namesAreWordsOfTheDomain = noClasses()
            .should()
            .haveSimpleNameEndingWith("Manager")
            .orShould()
            .haveSimpleNameEndingWith("Helper")
            .orShould()
            .haveSimpleNameEndingWith("Util")
            .orShould()
            .haveSimpleNameEndingWith("Utils")
            .orShould()
            .haveSimpleNameEndingWith("Impl")
            .because("such a name says nothing");

    @ArchTest
    static final ArchRule stdoutBelongsToTheCommandLine = noClasses()
            .that()
            .resideOutsideOfPackages("dev.hongbao.cli..", "dev.hongbao.tools.bench..")
            .should()
            .accessField(System.class, "out")
            .orShould()
            .accessField(System.class, "err");

    @ArchTest
    static final ArchRule onlyToolsBlockOnRedis = noClasses()
            .that()
            .resideOutsideOfPackage("dev.hongbao.tools..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("redis.clients..");

    @ArchTest
    static final ArchRule onlyShardScriptCallsAScriptOfAShard = noClasses()
            .that()
            .doNotBelongToAnyOf(ShardScript.class, RedisCommands.class)
            .should()
            .accessField(Command.class, "EVALSHA")
            .because("each call of a shard's script is fenced and looked after in the same way; the probe of commands"
                    + " is of no shard");

    @ArchTest
    static final ArchRule nobodySendsAScriptWithItsCall = noClasses()
            .should()
            .accessField(Command.class, "EVAL")
            .because("the server's user in Redis may not, see the guide");

    @ArchTest
    static final ArchRule nobodyUsesTheJdksLogging =
            classes().should().onlyDependOnClassesThat().resideOutsideOfPackage("java.util.logging..");

    @ArchTest
    static void everyPackageIsNullMarked(JavaClasses all) {
        List<String> unmarked = all.stream()
                .map(JavaClass::getPackage)
                .distinct()
                .filter(each -> !isNullMarked(each))
                .map(JavaPackage::getName)
                .toList();
        assertThat(unmarked).isEmpty();
        assertThat(all).isNotEmpty();
    }

    private static boolean isNullMarked(JavaPackage javaPackage) {
        return javaPackage
                .tryGetPackageInfo()
                .map(info -> info.isAnnotatedWith(NullMarked.class))
                .orElse(false);
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(ArchitectureTest::outermost).orElse(type);
    }
}
