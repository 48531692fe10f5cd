/** The version of a collection as replies state it. */
export const getVersion = ({ revision }: { readonly revision: number }): string => String(revision)

/** The ETag of a collection. It changes with the collection, but not with the numbers of its videos. */
export const getEtag = (collection: { readonly revision: number }): string => `"${getVersion(collection)}"`
