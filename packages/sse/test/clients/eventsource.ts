import { EventSource } from 'eventsource'
import { printMessage, runClient } from './client-program.ts'

await runClient((url) => {
  // While the library waits to reconnect, it does not keep the process alive.
  setInterval(() => {}, 60_000)
  const source = new EventSource(url)
  for (const event of ['message', 'gap', 'closed']) {
    source.addEventListener(event, ({ data, lastEventId }) => printMessage({ id: lastEventId, event, data }))
  }
  source.addEventListener('error', ({ code, message }) => {
    process.stderr.write(`${code} ${message}\n`)
    if (source.readyState === EventSource.CLOSED) process.exit(1)
  })
})
