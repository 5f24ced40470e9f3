import java.io.*;
import java.nio.file.*;
import java.util.*;

/** Bodies as Java makes them without a library for JSON: java Make.java FOLDER */
public class Make {
    static Path folder;

    static void write(String name, byte[] bytes) throws IOException {
        Files.write(folder.resolve("java-" + name + ".body"), bytes);
    }

    static void write(String name, String text) throws IOException {
        write(name, text.getBytes("UTF-8"));
    }

    static String ad(String fields, String amount) {
        return "{\"source_id\": \"@ID@\", \"category_id\": 1020, \"category_fields\": {\"model_year\": 2019, \"brand\": \"volvo\", "
            + "\"model\": \"v60\", \"registration_number\": \"@PLATE@\", \"condition\": {\"mileage\": {\"unit\": \"mil\", \"value\": 5400}}, "
            + "\"powertrain\": {\"fuels\": [\"diesel\"]}" + fields + "}, \"price\": [{\"type\": \"list\", \"amount\": " + amount
            + ", \"currency\": \"SEK\"}], \"body\": \"Bra bil\"}";
    }

    static class Ad { }

    public static void main(String[] arguments) throws Exception {
        folder = Path.of(arguments[0]);
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("source_id", "x");
        map.put("category_id", 1020);
        write("map-to-string", map.toString());
        write("object-to-string", "Make$Ad@" + "6d06d69c");
        write("format-swedish", ad("", String.format(new Locale("sv", "SE"), "%.1f", 189900.5)));
        write("format-german", ad("", String.format(Locale.GERMANY, "%,.2f", 189900.5)));
        write("format-german-text", ad("", "\"" + String.format(Locale.GERMANY, "%,.2f", 189900.5) + "\""));
        write("scientific", ad("", "\"" + Double.toString(18990000.0) + "\""));
        write("date", ad(", \"in_traffic_date\": \"" + new Date(1556841600000L) + "\"", "189900"));
        write("milliseconds", ad(", \"in_traffic_date\": " + new Date(1556841600000L).getTime(), "189900"));
        write("local-date-parts", ad(", \"in_traffic_date\": " + Arrays.toString(new int[] {2019, 5, 3}), "189900"));
        write("null-as-text", ad(", \"physics\": {\"number_of_doors\": \"" + String.valueOf((Object) null) + "\"}", "189900"));
        write("boolean-as-text", ad(", \"is_vat_deductible\": \"" + Boolean.TRUE + "\"", "189900"));
        write("list-to-string", ad(", \"equipments\": " + List.of("ABS", "AC"), "189900"));
        write("half-of-a-pair", ad(", \"color\": \"" + String.format("\\u%04x", (int) "\ud83d\ude97".charAt(0)) + "\"", "189900"));
        write("windows-path", ad(", \"color\": \"C:\\Bilder\\1.jpg\"", "189900"));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new ObjectOutputStream(bytes).writeObject(map);
        write("serialized", bytes.toByteArray());
        StringWriter properties = new StringWriter();
        Properties ad = new Properties();
        ad.setProperty("source_id", "x");
        ad.store(properties, "ad");
        write("properties", properties.toString().replaceAll("#[A-Z][a-z]{2} .*\\n", ""));
    }
}
