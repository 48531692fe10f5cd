/**
 * Returns the whole reply to a GET; undefined if it is an error, or if the service is down or killed during the reply.
 */
export async function getReply(url: string): Promise<{ readonly text: string; readonly headers: Headers } | undefined> {
  try {
    const reply = await fetch(url)
    return reply.ok ? { text: await reply.text(), headers: reply.headers } : undefined
  } catch {
    return undefined
  }
}

/** True if a service reports that it is ready. False also if the service is down. */
export const isReady = (url: string): Promise<boolean> =>
  getReply(`${url}/readyz`).then((answer) => answer !== undefined)
