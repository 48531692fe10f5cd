/** The version of a collection as replies state it. */
export const getVersion = ({ revision }: { readonly revision: number }): string => String(revision)

/** The ETag of a collection: it changes with the collection, and not with its numbers. */
export const getEtag = (collection: { readonly revision: number }): string => `"${getVersion(collection)}"`
