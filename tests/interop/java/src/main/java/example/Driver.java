// SPDX-License-Identifier: Apache-2.0
package example;

import cofferdam.v1.Options.NetworkMode;
import cofferdam.v1.Options.SandboxOptions;
import cofferdam.v1.State.EngineIdentity;
import cofferdam.v1.State.Feature;
import cofferdam.v1.State.SessionState;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Consumer;

/** Driver [--key FILE] read FILE… | write DIR | EDIT IN OUT: what the suite asks of Java. */
public final class Driver {
  private static final Map<String, Consumer<SessionState.Builder>> CAREFUL =
      Map.of(
          "change", state -> state.setWorkspaceReady(!state.getWorkspaceReady()),
          "relabel", state -> state.getOptionsBuilder().putLabels("changed-by", "java"));

  private static final Map<String, Consumer<SessionState.Builder>> CARELESS =
      Map.of(
          "strip",
              state -> state.getOptionsBuilder().setNetworkMode(NetworkMode.NETWORK_MODE_UNSET),
          "unlist", SessionState.Builder::clearRequiredFeatures,
          "feature", state -> state.addRequiredFeaturesValue(99),
          "copy", state -> {});

  private static SessionState minimal() {
    return SessionState.newBuilder()
        .setSchemaRevision(2)
        .setSessionId("0f8fad5b-d9cb-469f-a165-70867728950e")
        .setImageId("sha256:" + "1a".repeat(32))
        .setContainerId("c0".repeat(32))
        .setOptions(SandboxOptions.newBuilder().setImage("busybox:test"))
        .build();
  }

  private static SessionState full() {
    SessionState.Builder state = minimal().toBuilder();
    state.addRequiredFeatures(Feature.FEATURE_NETWORK_ISOLATION);
    SandboxOptions.Builder options = state.getOptionsBuilder();
    options.addExposedPorts(8080).addExposedPorts(80);
    for (int i = 19; i >= 0; i--) {
      options.putLabels("label-" + i, "wert-ü-" + i);
    }
    options.putEnv("EMPTY", "").putEnv("A", "x=y\n\uD83D\uDD12");
    options.setNetworkMode(NetworkMode.NETWORK_MODE_NONE);
    state.setEngine(EngineIdentity.newBuilder().setId("ABCD:EFGH"));
    return state.setWorkspaceReady(true).build();
  }

  private static void show(PrintStream out, String path, byte[] key) throws Exception {
    try {
      SessionState state = CofferdamState.read(Files.readAllBytes(Path.of(path)), key);
      out.println(JsonFormat.printer().omittingInsignificantWhitespace().print(state));
    } catch (GeneralSecurityException | InvalidProtocolBufferException error) {
      out.println("refused: " + error.getMessage());
    }
  }

  private static void write(Path folder, byte[] key) throws Exception {
    Files.write(folder.resolve("full-unsealed"), full().toByteArray());
    Files.write(folder.resolve("full-sha256"), CofferdamState.seal(full(), null, ""));
    Files.write(folder.resolve("full-hmac"), CofferdamState.seal(full(), key, "test-key"));
    Files.write(folder.resolve("minimal-sha256"), CofferdamState.seal(minimal(), null, ""));
  }

  private static void edit(String name, Path source, Path target, byte[] key) throws Exception {
    byte[] data = Files.readAllBytes(source);
    boolean careful = CAREFUL.containsKey(name);
    SessionState.Builder state =
        (careful ? CofferdamState.read(data, key) : SessionState.parseFrom(data)).toBuilder();
    (careful ? CAREFUL : CARELESS).get(name).accept(state);
    Files.write(target, CofferdamState.seal(state.build(), key, "test-key"));
  }

  public static void main(String[] arguments) throws Exception {
    byte[] key = null;
    String[] rest = arguments;
    if (rest[0].equals("--key")) {
      key = Files.readAllBytes(Path.of(rest[1]));
      rest = Arrays.copyOfRange(rest, 2, rest.length);
    }
    if (rest[0].equals("read")) {
      PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
      for (int i = 1; i < rest.length; i++) {
        show(out, rest[i], key);
      }
    } else if (rest[0].equals("write")) {
      write(Path.of(rest[1]), key);
    } else {
      edit(rest[0], Path.of(rest[1]), Path.of(rest[2]), key);
    }
  }
}
