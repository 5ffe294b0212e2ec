module ipledger/test/tools/process-timer

go 1.26.0
