// SPDX-License-Identifier: Apache-2.0
package example;

import cofferdam.v1.State.Feature;
import cofferdam.v1.State.Seal;
import cofferdam.v1.State.SealAlgorithm;
import cofferdam.v1.State.SessionState;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Seals, verifies and reads Cofferdam states. Copy it, it is yours.
 *
 * <p>Without a key (null) a seal is SHA-256, which finds damage; with one HMAC-SHA-256, which finds
 * forgery.
 */
public final class CofferdamState {
  private CofferdamState() {}

  private static byte[] sealField(byte[] body, byte[] key, String keyId)
      throws GeneralSecurityException {
    Seal.Builder seal = Seal.newBuilder();
    if (key == null) {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(body);
      seal.setAlgorithm(SealAlgorithm.SEAL_ALGORITHM_SHA256).setDigest(ByteString.copyFrom(digest));
    } else {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      seal.setAlgorithm(SealAlgorithm.SEAL_ALGORITHM_HMAC_SHA256)
          .setKeyId(keyId)
          .setDigest(ByteString.copyFrom(mac.doFinal(body)));
    }
    return SessionState.newBuilder().setSeal(seal).build().toByteArray();
  }

  /** The bytes of the state, with a new seal as the last field. */
  public static byte[] seal(SessionState state, byte[] key, String keyId)
      throws GeneralSecurityException {
    byte[] body = state.toBuilder().clearSeal().build().toByteArray();
    byte[] field = sealField(body, key, keyId);
    byte[] sealed = Arrays.copyOf(body, body.length + field.length);
    System.arraycopy(field, 0, sealed, body.length, field.length);
    return sealed;
  }

  /** Whether the state is sealed in the way that is wanted, and unchanged since. */
  public static boolean verify(byte[] data, byte[] key)
      throws GeneralSecurityException, InvalidProtocolBufferException {
    SessionState state = SessionState.parseFrom(data);
    if (!state.hasSeal()) {
      return false;
    }
    int tail = SessionState.newBuilder().setSeal(state.getSeal()).build().getSerializedSize();
    byte[] body = Arrays.copyOf(data, data.length - tail);
    byte[] field = sealField(body, key, state.getSeal().getKeyId());
    return MessageDigest.isEqual(Arrays.copyOfRange(data, body.length, data.length), field);
  }

  /** The state. With a key, nothing that is not sealed with it is read. */
  public static SessionState read(byte[] data, byte[] key)
      throws GeneralSecurityException, InvalidProtocolBufferException {
    SessionState state = SessionState.parseFrom(data);
    if ((key != null || state.hasSeal()) && !verify(data, key)) {
      throw new GeneralSecurityException("the seal is missing or wrong");
    }
    if (state.getRequiredFeaturesList().contains(Feature.UNRECOGNIZED)) {
      throw new GeneralSecurityException(
          "the state needs a feature that this program does not know: "
              + state.getRequiredFeaturesValueList());
    }
    return state;
  }
}
