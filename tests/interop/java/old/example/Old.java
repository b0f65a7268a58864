// SPDX-License-Identifier: Apache-2.0
package example;

import cofferdam.v1.State.SessionState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;

/**
 * Old IN OUT: a program of schema r1 in the middle. It says what a careful reader would do, and
 * then does what a careless one does: change a field and seal again.
 */
public final class Old {
  public static void main(String[] arguments) throws Exception {
    byte[] data = Files.readAllBytes(Path.of(arguments[0]));
    try {
      CofferdamState.read(data, null);
      System.out.println("read");
    } catch (GeneralSecurityException error) {
      System.out.println("refused: " + error.getMessage());
    }
    SessionState.Builder state = SessionState.parseFrom(data).toBuilder();
    state.setWorkspaceReady(!state.getWorkspaceReady());
    Files.write(Path.of(arguments[1]), CofferdamState.seal(state.build(), null, ""));
  }
}
