/** What a service answers, all of it; nothing where it says no, is away, or is killed amid its answer. */
export async function getReply(url: string): Promise<{ readonly text: string; readonly headers: Headers } | undefined> {
  try {
    const reply = await fetch(url)
    return reply.ok ? { text: await reply.text(), headers: reply.headers } : undefined
  } catch {
    return undefined
  }
}

/** Whether a service says that it is ready; one that is away is not. */
export const isReady = (url: string): Promise<boolean> =>
  getReply(`${url}/readyz`).then((answer) => answer !== undefined)
