package main

import (
	"context"
	"fmt"
	"os"

	client "example.test/client"
)

func main() {
	config := client.NewConfiguration()
	config.Servers = client.ServerConfigurations{{URL: os.Getenv("API")}}
	config.AddDefaultHeader("Authorization", "Bearer "+os.Getenv("KEY"))
	groups := client.NewAPIClient(config).GroupsAPI
	for _, after := range []string{"", "start"} {
		request := groups.ListLatestTrades(context.Background())
		request = request.Blockchain(client.BLOCKCHAIN_SOLANA).Type_(client.WALLET_TYPE_KOL).Limit(9)
		if after != "" {
			request = request.After(after)
		}
		response, _, err := request.Execute()
		if err != nil {
			panic(err)
		}
		for _, row := range response.Data.Transactions {
			if row.Change != nil {
				fmt.Println(row.Change.ArrivedTrade.Event, row.Change.ArrivedTrade.TxSignature)
			} else {
				fmt.Println("row", row.Trade.TxSignature)
			}
		}
	}
}
