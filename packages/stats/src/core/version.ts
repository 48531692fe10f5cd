/** The version of a collection as replies state it. */
export const versionOf = ({ revision }: { readonly revision: number }): string => String(revision)

/** The ETag of a collection: it changes with the collection, and not with its numbers. */
export const etagOf = (collection: { readonly revision: number }): string => `"${versionOf(collection)}"`
