/**
 * True if an `Accept-Encoding` header accepts gzip, and does not prefer the plain content. `x-gzip` is the same coding
 * (RFC 9110).
 */
export function isGzipAccepted(header: string | string[] | undefined): boolean {
  if (typeof header !== 'string' || !/gzip|\*/i.test(header)) return false
  const weights = new Map(
    header.split(',').map((coding) => {
      const [name, q] = coding.split(';')
      return [name!.trim().toLowerCase(), Number(/q=([\d.]+)/i.exec(q ?? '')?.[1] ?? 1)]
    }),
  )
  const weight = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0
  return weight > 0 && weight >= (weights.get('identity') ?? 0)
}
