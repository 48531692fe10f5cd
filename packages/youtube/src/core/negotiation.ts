/** True if an `Accept-Encoding` header accepts gzip. */
export function isGzipAccepted(header: string | undefined): boolean {
  if (header === undefined || !/gzip|\*/i.test(header)) return false
  const weights = new Map(
    header.split(',').map((coding) => {
      const [name, q] = coding.split(';')
      return [name!.trim().toLowerCase(), Number(/q=([\d.]+)/i.exec(q ?? '')?.[1] ?? 1)]
    }),
  )
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0
}

/** True if an `If-None-Match` header names an ETag (given with its quotes). */
export function isEtagMatch(header: string, etag: string): boolean {
  return header.split(',').some((candidate) => {
    const tag = candidate.trim()
    return tag === '*' || tag === etag || tag === `W/${etag}`
  })
}
