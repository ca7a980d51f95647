export function slugger(): (heading: string) => string;
