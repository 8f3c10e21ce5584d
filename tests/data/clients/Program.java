import org.openapitools.client.ApiClient;
import org.openapitools.client.api.GroupsApi;
import org.openapitools.client.api.ServiceApi;
import org.openapitools.client.model.*;

public class Program {
    public static void main(String[] arguments) throws Exception {
        ApiClient client = new ApiClient();
        client.updateBaseUri(System.getenv("API"));
        client.setRequestInterceptor(
            request -> request.header("Authorization", "Bearer " + System.getenv("KEY")));
        for (String after : new String[] {null, "start"}) {
            LatestResponse response = new GroupsApi(client).listLatestTrades(
                Blockchain.BLOCKCHAIN_SOLANA, WalletType.WALLET_TYPE_KOL,
                null, 9L, null, null, null, null, after, null, null, null, null);
            for (var row : response.getData().getTransactions()) {
                if (row.getActualInstance() instanceof Change change) {
                    ArrivedTrade trade = change.getArrivedTrade();
                    System.out.println(trade.getEvent() + " " + trade.getTxSignature());
                } else {
                    System.out.println("row " + ((Trade) row.getActualInstance()).getTxSignature());
                }
            }
        }
    }
}
