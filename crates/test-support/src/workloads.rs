//! Every way of running every algorithm, as requested from providers and runners.

use cpb_core::{Algorithm, CryptoWorkload, Operation, Phase, Placement};

/// Zero, one byte, lengths around a block, a cache line, and up to a page.
const LENGTHS: [u32; 8] = [0, 1, 15, 16, 17, 64, 1000, 4096];

/// Every way of running every algorithm without key pairs, at every length, valid or not.
pub fn all_ways() -> Vec<CryptoWorkload> {
    let mut all = Vec::new();
    for &algorithm in Algorithm::ALL.iter().filter(|algorithm| !algorithm.has_key_pairs()) {
        for &operation in Operation::ALL {
            for &phase in Phase::ALL {
                for &placement in Placement::ALL {
                    for message in LENGTHS {
                        let plain = CryptoWorkload::new(algorithm, operation, message);
                        all.push(CryptoWorkload { phase, placement, ..plain });
                    }
                }
            }
        }
    }
    all
}

/// The valid ones.
pub fn sensible_ways() -> Vec<CryptoWorkload> {
    let mut ways = all_ways();
    ways.retain(|workload| workload.valid().is_ok());
    ways
}

/// The key-pair operations, in each phase that they have. Generating an RSA key of 3072 bits or more takes seconds
/// and runs the same code as one of 2048 bits.
pub fn ways_with_key_pairs() -> Vec<CryptoWorkload> {
    let mut all = Vec::new();
    for &algorithm in Algorithm::ALL {
        for &operation in algorithm.operations() {
            let Some(message) = algorithm.fixed_message(operation) else { continue };
            for &phase in Phase::ALL {
                let plain = CryptoWorkload::new(algorithm, operation, message as u32);
                all.push(CryptoWorkload { phase, ..plain });
            }
        }
    }
    let slow = [Algorithm::Rsa3072Pkcs1, Algorithm::Rsa4096Pkcs1];
    all.retain(|workload| {
        let makes = workload.operation == Operation::GenerateKey;
        workload.valid().is_ok() && !(makes && slow.contains(&workload.algorithm))
    });
    all
}
