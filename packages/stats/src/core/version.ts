/** The version of a collection as replies state it. */
export const versionOf = ({ revision }: { readonly revision: number }): string => String(revision)

/** The ETag of a collection: it changes with the collection, and not with its numbers. */
export const etagOf = (collection: { readonly revision: number }): string => `"${versionOf(collection)}"`

/** Microseconds since 1970 as an ISO time with six decimals: unique, where milliseconds are not. */
export const toIsoMicroseconds = (time: number): string =>
  new Date(Math.floor(time / 1000)).toISOString().replace('Z', `${String(time % 1000).padStart(3, '0')}Z`)
