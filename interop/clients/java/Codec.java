import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.apache.pulsar.common.api.proto.BaseCommand;
import org.apache.pulsar.common.api.proto.BrokerEntryMetadata;
import org.apache.pulsar.common.api.proto.MessageMetadata;
import org.apache.pulsar.shade.com.fasterxml.jackson.databind.JsonNode;
import org.apache.pulsar.shade.io.netty.buffer.ByteBuf;
import org.apache.pulsar.shade.io.netty.buffer.Unpooled;

/**
 * Frames as Java's own generated classes read and write them. Those have no reflection of their
 * own, so fields are found by the names of their methods: hasX/getX/isX, getXAt, setX, addX.
 */
final class Codec {
  private static final HexFormat HEX = HexFormat.of();
  private static final int CHECKSUM_MAGIC = 0x0e01;
  private static final int BROKER_ENTRY_MAGIC = 0x0e02;

  static void decode(JsonNode command) throws Exception {
    for (JsonNode frame : command.get("frames"))
      Driver.say("frame", decodeFrame(HEX.parseHex(frame.asText())));
    Driver.say("done", Map.of());
  }

  static void encode(JsonNode command) throws Exception {
    for (JsonNode fields : command.get("commands")) {
      BaseCommand base = new BaseCommand();
      fill(base, fields);
      int sizeBytes = base.getSerializedSize();
      ByteBuf frame = Unpooled.buffer().writeInt(sizeBytes + 4).writeInt(sizeBytes);
      base.writeTo(frame);
      Driver.say("frame", Map.of("hex", hexOf(frame)));
    }
    Driver.say("done", Map.of());
  }

  /** Besides the fields: the same frame written again by Java, which is equal if we order as it does. */
  private static Map<String, Object> decodeFrame(byte[] bytes) throws Exception {
    ByteBuf frame = Unpooled.wrappedBuffer(bytes);
    Map<String, Object> result = new LinkedHashMap<>();
    ByteBuf again = Unpooled.buffer();
    again.writeInt(frame.readInt());
    int commandBytes = frame.readInt();
    BaseCommand base = new BaseCommand();
    base.parseFrom(frame, commandBytes);
    again.writeInt(base.getSerializedSize());
    result.put("command", fieldsOf(base));
    base.writeTo(again);
    if (frame.isReadable()) decodePayload(frame, again, result);
    result.put("again", hexOf(again));
    return result;
  }

  private static void decodePayload(ByteBuf frame, ByteBuf again, Map<String, Object> result)
      throws Exception {
    if (frame.getUnsignedShort(frame.readerIndex()) == BROKER_ENTRY_MAGIC) {
      again.writeShort(frame.readShort());
      int entryBytes = frame.readInt();
      BrokerEntryMetadata entry = new BrokerEntryMetadata();
      entry.parseFrom(frame, entryBytes);
      again.writeInt(entry.getSerializedSize());
      entry.writeTo(again);
      result.put("brokerEntryMetadata", fieldsOf(entry));
    }
    if (frame.getUnsignedShort(frame.readerIndex()) == CHECKSUM_MAGIC) {
      again.writeShort(frame.readShort());
      int checksum = frame.readInt();
      again.writeInt(checksum);
      CRC32C crc = new CRC32C();
      crc.update(frame.nioBuffer());
      result.put("isChecksumRight", checksum == (int) crc.getValue());
    }
    int metadataBytes = frame.readInt();
    MessageMetadata metadata = new MessageMetadata();
    metadata.parseFrom(frame, metadataBytes);
    again.writeInt(metadata.getSerializedSize());
    metadata.writeTo(again);
    result.put("metadata", fieldsOf(metadata));
    result.put("payload", HEX.formatHex(bytesOf(frame)));
    again.writeBytes(frame);
  }

  private static Map<String, Object> fieldsOf(Object message) throws Exception {
    Map<String, Object> fields = new LinkedHashMap<>();
    for (Method method : message.getClass().getMethods()) {
      String name = method.getName();
      if (name.startsWith("has") && method.getReturnType() == boolean.class) {
        if (!name.equals("hashCode") && (boolean) method.invoke(message))
          fields.put(jsonName(name.substring(3)), valueOf(get(message, name.substring(3))));
      } else if (name.matches("get.+At") && method.getParameterCount() == 1) {
        List<Object> values = valuesOf(message, method);
        if (!values.isEmpty()) fields.put(jsonName(name.substring(3, name.length() - 2)), values);
      }
    }
    return fields;
  }

  private static Object get(Object message, String name) throws Exception {
    try {
      return message.getClass().getMethod("get" + name).invoke(message);
    } catch (NoSuchMethodException isBoolean) {
      return message.getClass().getMethod("is" + name).invoke(message);
    }
  }

  private static List<Object> valuesOf(Object message, Method at) throws Exception {
    List<Object> values = new ArrayList<>();
    try {
      while (true) values.add(valueOf(at.invoke(message, values.size())));
    } catch (InvocationTargetException end) {
      if (end.getCause() instanceof IndexOutOfBoundsException) return values;
      throw end;
    }
  }

  /** Whole numbers as text, because JSON's are not exact for all of them. */
  private static Object valueOf(Object value) throws Exception {
    if (value instanceof byte[] bytes) return HEX.formatHex(bytes);
    if (value instanceof Long number) return Long.toUnsignedString(number);
    if (value instanceof Enum<?> constant) return constant.name();
    if (value.getClass().getPackageName().equals(BaseCommand.class.getPackageName()))
      return fieldsOf(value);
    return value;
  }

  private static void fill(Object message, JsonNode fields) throws Exception {
    for (Map.Entry<String, JsonNode> entry : fields.properties()) {
      String name = entry.getKey().substring(0, 1).toUpperCase() + entry.getKey().substring(1);
      if (entry.getValue().isArray())
        for (JsonNode value : entry.getValue()) put(message, "add" + name, value);
      else put(message, "set" + name, entry.getValue());
    }
  }

  private static void put(Object message, String name, JsonNode value) throws Exception {
    for (Method method : message.getClass().getMethods()) {
      if (!method.getName().equals(name)) continue;
      if (value.isObject() && method.getParameterCount() == 0) {
        fill(method.invoke(message), value);
        return;
      }
      if (value.isObject() || method.getParameterCount() != 1) continue;
      Object argument = argumentOf(method.getParameterTypes()[0], value);
      if (argument == null) continue;
      method.invoke(message, argument);
      return;
    }
    throw new IllegalArgumentException("no " + name + " in " + message.getClass().getSimpleName());
  }

  private static Object argumentOf(Class<?> type, JsonNode value) throws Exception {
    if (type == int.class) return value.asInt();
    if (type == long.class) return Long.parseUnsignedLong(value.asText());
    if (type == boolean.class) return value.asBoolean();
    if (type == String.class) return value.asText();
    if (type == byte[].class) return HEX.parseHex(value.asText());
    if (type.isEnum()) return type.getMethod("valueOf", String.class).invoke(null, value.asText());
    return null;
  }

  private static String jsonName(String name) {
    return name.substring(0, 1).toLowerCase() + name.substring(1);
  }

  private static String hexOf(ByteBuf buffer) {
    return HEX.formatHex(bytesOf(buffer));
  }

  private static byte[] bytesOf(ByteBuf buffer) {
    byte[] bytes = new byte[buffer.readableBytes()];
    buffer.getBytes(buffer.readerIndex(), bytes);
    return bytes;
  }
}
