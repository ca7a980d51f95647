export function referencePages(): Promise<Map<string, string>>;
