/** A plain write of one value. */
export const put = (key: string, value: string) => ({
  ops: [{ type: 'put' as const, key: Buffer.from(key), value: Buffer.from(value) }],
  durable: false,
})

/** Result of a write: true if it took effect. */
export const isHeld = (revision: string | undefined) => revision !== undefined

export const waitTwoTurns = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
