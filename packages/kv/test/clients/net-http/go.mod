module influencer-stats/kv-client

go 1.19
