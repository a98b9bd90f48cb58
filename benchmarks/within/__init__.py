"""Which measure tells the wrong objects within a cluster of the consensus?"""
