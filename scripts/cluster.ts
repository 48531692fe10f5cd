// `pnpm cluster`: a cluster on this machine. `pnpm cluster rescue SERVICE`: continues the log of a cluster.

const USAGE = `pnpm cluster [--data DIR] [-- setting...]   runs three nodes of kv, sse, stats and prices, three NATS servers and
                                            a dashboard on this machine, until a signal. Each node gets the
                                            settings: pnpm cluster -- --threads 2
pnpm cluster rescue SERVICE ...             continues the log of a cluster whose stream is lost: see
                                            pnpm cluster rescue --help
The data of pnpm cluster are in ./data/cluster by default.
`

const [command, ...args] = process.argv.slice(2)
if (command === 'rescue') {
  const { runRescue } = await import('./cluster/rescue.ts')
  process.exitCode = await runRescue(args, process.env)
} else if (command === '--help' || command === '-h') process.stdout.write(USAGE)
else if (command === undefined || command.startsWith('-')) await import('./cluster/run-cluster.ts')
else {
  process.stderr.write(USAGE)
  process.exitCode = 2
}
