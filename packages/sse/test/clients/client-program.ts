/** A message as a library passes it to its user. */
export interface ClientMessage {
  readonly id: string
  readonly event: string
  readonly data: string
}

/** Prints a message as the test expects it: one line of JSON. */
export function printMessage({ id, event, data }: ClientMessage): void {
  process.stdout.write(`${JSON.stringify({ id, event, data })}\n`)
}

/** Sends a value by fetch. Resolves with the id of its event. Pages also run this function, so it uses no other. */
export async function sendByFetch(url: string, topic: string, data: string, jwt: string): Promise<string> {
  const isPut = url.endsWith('/put')
  const target = isPut ? `${url}?${new URLSearchParams({ topic })}` : url
  const body = isPut ? data : new URLSearchParams({ topic, data })
  const response = await fetch(target, { method: 'POST', headers: { authorization: `Bearer ${jwt}` }, body })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return isPut ? response.headers.get('event-id')! : response.text()
}

/**
 * Runs a client in Node. All programs of this folder have the same arguments:
 *
 * - `read URL TOPIC...` subscribes until it is killed, and prints a line for each message, also for empty ones.
 * - `send URL TOPIC DATA` puts a value at `/put` or publishes it at the hub, with the token in `MERCURE_JWT`, and prints the
 *   id of its event.
 */
export async function runClient(read: (url: string) => unknown, send: typeof sendByFetch = sendByFetch): Promise<void> {
  const [command, url = '', ...rest] = process.argv.slice(2)
  if (command === 'send') {
    const [topic = '', data = ''] = rest
    process.stdout.write(`${JSON.stringify({ id: await send(url, topic, data, process.env.MERCURE_JWT!) })}\n`)
  } else {
    const stream = new URL(url)
    for (const topic of rest) stream.searchParams.append('topic', topic)
    await read(stream.href)
  }
}
