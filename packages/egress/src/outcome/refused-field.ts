/** The field that tells a refusal of a gate of ours from an answer of the peer; its value is the reason. */
export const REFUSED_FIELD = "x-sluice-refused";
