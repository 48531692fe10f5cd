/** True if an `Accept-Encoding` header accepts gzip. */
export function isGzipAccepted(header: string | string[] | undefined): boolean {
  if (typeof header !== 'string' || !/gzip|\*/i.test(header)) return false
  const weights = new Map(
    header.split(',').map((coding) => {
      const [name, q] = coding.split(';')
      return [name!.trim().toLowerCase(), Number(/q=([\d.]+)/i.exec(q ?? '')?.[1] ?? 1)]
    }),
  )
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0
}
