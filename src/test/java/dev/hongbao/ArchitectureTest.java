package dev.hongbao;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
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
import dev.hongbao.engine.ShardScript;
import dev.hongbao.engine.Shards;
import dev.hongbao.store.redis.RedisCommands;
import io.vertx.redis.client.Command;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;

/** The rules of the layout: rooms by subject, and what each may know. */
@AnalyzeClasses(packages = "dev.hongbao", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    private static final String ROOT = "dev.hongbao";

    /** Lowest first: a room knows only rooms of the lines above its own. Rooms of one line do not know each other. */
    private static final List<List<String>> ORDER = List.of(
            List.of("values", "config"),
            List.of("store.redis", "store.postgres"),
            List.of("store.embedded"),
            List.of("store"),
            List.of("engine"),
            List.of("http"),
            List.of("access"),
            List.of("ledger"),
            List.of("packet.split", "draw.odds"),
            List.of("packet", "draw"),
            List.of("campaign"),
            List.of("feed", "webhook", "fairness"),
            List.of("reconcile", "ws"),
            List.of("doctor"),
            List.of("page"),
            List.of("server"),
            List.of("tools"),
            List.of("cli"),
            List.of(""));

    /** Arrows upwards that still are, as {@code "room -> room"}. The list only shrinks: one that is gone has to leave it. */
    private static final Set<String> EXCEPTIONS = Set.of();

    /** The rooms of the subjects. */
    private static final String[] SUBJECTS = {
        "dev.hongbao.access..",
        "dev.hongbao.ledger..",
        "dev.hongbao.packet..",
        "dev.hongbao.draw..",
        "dev.hongbao.campaign..",
        "dev.hongbao.feed..",
        "dev.hongbao.webhook..",
        "dev.hongbao.fairness..",
        "dev.hongbao.reconcile.."
    };

    /** The part of a subject that answers calls. */
    private static final String FACES = ".*\\.\\w*(Routes?|Bod(y|ies)|Frames)(\\$.*)?";

    /** Classes of subjects that know HTTP beside their routes and bodies: the doors hand out the routes. */
    private static final Set<String> OF_HTTP =
            Set.of("Access", "CallLog", "Wallets", "Packets", "Draws", "Campaigns", "Feeds", "Outbox");

    /** Values and pure functions, with what is nested in them, in rooms that also talk to stores. */
    private static final Set<String> VALUES = Set.of(
            // packet
            "Claim",
            "Packet",
            "PacketView",
            "Passcode",
            "SendCommand",
            // ledger
            "TransferKind",
            "WalletRecord");

    /** The values that use Vert.x: two read JSON by its parser, one makes its clients, and a refusal makes its failed future. */
    private static final Set<String> VALUES_BY_VERTX =
            Set.of("StrictJson", "Metadata", "ShortLivedClient", "RefusedException");

    private static final DescribedPredicate<JavaClass> SUBJECTS_VALUES = DescribedPredicate.describe(
            "values of subjects",
            type -> Set.of("dev.hongbao.packet", "dev.hongbao.ledger").contains(type.getPackageName())
                    && Stream.of(type.getName().split("[.$]")).anyMatch(VALUES::contains));

    private static final DescribedPredicate<JavaClass> PLAIN_VALUES = DescribedPredicate.describe(
            "plain values",
            type -> type.getPackageName().equals("dev.hongbao.values")
                    && !VALUES_BY_VERTX.contains(outermost(type).getSimpleName()));

    private static final DescribedPredicate<JavaClass> BEHIND_THE_ROUTES = DescribedPredicate.describe(
            "no routes and bodies",
            type -> !type.getName().matches(FACES)
                    && !OF_HTTP.contains(outermost(type).getSimpleName()));

    private static final DescribedPredicate<JavaMethodCall> READS_THE_WALL_CLOCK = DescribedPredicate.describe(
            "is now() of java.time, or a system's clock",
            call -> call.getTargetOwner().getPackageName().equals("java.time")
                    && (call.getName().equals("now") || call.getName().startsWith("system")));

    @ArchTest
    static void aRoomKnowsOnlyTheRoomsBelow(JavaClasses all) {
        Set<String> seen = new TreeSet<>();
        Map<String, Set<String>> upwards = new TreeMap<>();
        for (JavaClass type : all) {
            String room = room(type);
            seen.add(room);
            type.getDirectDependenciesFromSelf().stream()
                    .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                    .filter(target -> target.getPackageName().startsWith(ROOT)
                            && !room(target).equals(room))
                    .filter(target -> height(room(target)) >= height(room))
                    .forEach(target -> upwards.computeIfAbsent(room + " -> " + room(target), arrow -> new TreeSet<>())
                            .add(type.getName() + " knows " + target.getName()));
        }

        assertThat(seen)
                .containsExactlyInAnyOrderElementsOf(
                        ORDER.stream().flatMap(List::stream).toList());
        Map<String, Set<String>> unexpected = new TreeMap<>(upwards);
        unexpected.keySet().removeAll(EXCEPTIONS);
        assertThat(unexpected).isEmpty();
        assertThat(upwards.keySet()).as("the list of exceptions only shrinks").containsAll(EXCEPTIONS);
    }

    /** The longest name in the order that the class' package begins with. */
    private static String room(JavaClass type) {
        String name = type.getPackageName();
        return ORDER.stream()
                .flatMap(List::stream)
                .filter(room -> room.isEmpty() ? name.equals(ROOT) : (name + ".").startsWith(ROOT + "." + room + "."))
                .max(Comparator.comparingInt(String::length))
                .orElseThrow(() -> new AssertionError(type.getName() + " is in no room"));
    }

    private static int height(String room) {
        for (int line = 0; line < ORDER.size(); line++) {
            if (ORDER.get(line).contains(room)) {
                return line;
            }
        }
        throw new IllegalArgumentException(room);
    }

    /** A pattern that fits no class forbids nothing. */
    @ArchTest
    static void everyPatternOfTheseRulesFitsAClass(JavaClasses all) {
        for (String subject : SUBJECTS) {
            assertThat(all.that(resideInAPackage(subject))).as(subject).isNotEmpty();
        }
        for (String value : VALUES) {
            assertThat(all.that(SUBJECTS_VALUES))
                    .as(value)
                    .anyMatch(type -> type.getSimpleName().equals(value));
        }
        Set<String> named = new TreeSet<>(VALUES_BY_VERTX);
        named.addAll(OF_HTTP);
        for (String name : named) {
            assertThat(all).as(name).anyMatch(type -> type.getSimpleName().equals(name));
        }
        assertThat(all).anyMatch(type -> type.getName().matches(FACES));
    }

    @ArchTest
    static final ArchRule onlyRoutesAndBodiesKnowHttp = noClasses()
            .that(BEHIND_THE_ROUTES)
            .and()
            .resideInAnyPackage(SUBJECTS)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.hongbao.http..");

    @ArchTest
    static final ArchRule onlyTheServerStartsTheWriter = noClasses()
            .that()
            .resideOutsideOfPackages("dev.hongbao.engine..", "dev.hongbao.server..")
            .should()
            .callMethodWhere(DescribedPredicate.describe(
                    "makes the writer",
                    (JavaMethodCall call) -> call.getTargetOwner().isEquivalentTo(Shards.class)
                            && call.getName().equals("writer")));

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
    static final ArchRule subjectsKnowNoHttpAndNoToken = noClasses()
            .that(BEHIND_THE_ROUTES)
            .and()
            .resideInAnyPackage(SUBJECTS)
            .and()
            .resideOutsideOfPackages("dev.hongbao.access..", "dev.hongbao.webhook..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.vertx.core.http..", "io.vertx.ext.web..", "com.nimbusds..");

    @ArchTest
    static final ArchRule valuesKnowNoVertx = noClasses()
            .that(SUBJECTS_VALUES)
            .or(PLAIN_VALUES)
            .or(are(resideInAPackage("dev.hongbao.packet.split..")))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.vertx..", "io.netty..");

    @ArchTest
    static final ArchRule packagesHaveNoCycles =
            slices().matching("dev.hongbao.(**)").should().beFreeOfCycles();

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
            .resideInAnyPackage(SUBJECTS)
            .or()
            .resideInAnyPackage("dev.hongbao.engine..", "dev.hongbao.store.redis..", "dev.hongbao.store.postgres..")
            .and()
            .doNotHaveSimpleName("Courier") // a signature names the time of its message
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
